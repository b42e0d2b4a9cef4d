"""Which of the forms in trainer-forms.json a trainer's sources no longer have: a line each.

    python moved_forms.py REPOSITORY_OR_PACKAGE FOLDER
"""

import ast
import json
import os
import sys

FORMS = json.load(open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "trainer-forms.json")))


def arguments_of(function):
    given = function.args
    return [one.arg for one in given.posonlyargs + given.args + given.kwonlyargs]


def functions(body):
    return {one.name: one for one in body if isinstance(one, (ast.FunctionDef, ast.AsyncFunctionDef))}


def calls_of(function, name):
    for node in ast.walk(function):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == name:
            yield [ast.unparse(one) for one in node.args] + ["%s=" % one.arg for one in node.keywords]


def differences(form, tree):
    """The parts of a form that a module lacks, in words."""
    if "strings" in form:
        found = {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)}
        return ["no text %r" % one for one in form["strings"] if one not in found]
    if "call" in form:
        caller = functions(tree.body).get(form["caller"])
        calls = [] if caller is None else list(calls_of(caller, form["call"]))
        wanted = form["arguments"]
        return [] if wanted in calls else ["%s calls it with %s" % (form["caller"], calls or "nothing")]
    kinds = [node for node in ast.walk(tree) if isinstance(node, ast.ClassDef) and node.name == form["class"]]
    if not kinds:
        return ["no class %s" % form["class"]]
    body = kinds[0].body
    if "fields" in form:
        fields = {one.target.id for one in body if isinstance(one, ast.AnnAssign) and isinstance(one.target, ast.Name)}
        return ["%s has no %s" % (form["class"], name) for name in form["fields"] if name not in fields]
    methods = functions(body)
    if "methods" in form:
        return ["%s has no %s" % (form["class"], name) for name in form["methods"] if name not in methods]
    if form["method"] not in methods:
        return ["%s has no %s" % (form["class"], form["method"])]
    now = arguments_of(methods[form["method"]])
    return [] if now == form["arguments"] else ["%s.%s(%s)" % (form["class"], form["method"], ", ".join(now))]


def moved(trainer, folder):
    for name, form in FORMS.items():
        if trainer not in (form.get("repository"), form.get("package")):
            continue
        since = form.get("commit", form.get("version", ""))[:12]
        try:
            tree = ast.parse(open(os.path.join(folder, form["file"]), encoding="utf-8").read())
            found = differences(form, tree)
        except OSError:
            found = ["no file %s" % form["file"]]
        for one in found:
            yield "%s, since %s: %s" % (name, since, one)


if __name__ == "__main__":
    print("\n".join(moved(*sys.argv[1:])))
