"""usage: draw.py TOKENIZER_DIR COUNT SEED

Prints dump lines as a trainer with tools would record them: each reply is sampled behind the rendered prompt, so its ids
are a token sequence of its own, and the mask covers what was sampled. Some have what no loader of messages can hold.
"""
import json, random, sys
from transformers import AutoTokenizer

tok = AutoTokenizer.from_pretrained(sys.argv[1])
count, draw = int(sys.argv[2]), random.Random(int(sys.argv[3]))
WORDS = """the tool said seven 217 × 49 is a prime number? no. Grüße 東京 مرحبا 👩‍💻 é e\u0301 naïve x_1 += 2; {"a": [1]} <b>bold</b>
café \u200b zero-width \\n "quoted" 'single' $x^2$ | & % `code` – — … ﬁ Ω ½ 한국어 ไทย हिन्दी 🇩🇪 \t tab""".split(" ")
TOOLS = [
    {"type": "function", "function": {"name": name, "description": about, "parameters": {"type": "object", "properties": {key: {"type": "string"}}, "required": [key]}}}
    for name, about, key in [("calculator", "Evaluates <b>x</b> & more.", "expression"), ("search", "Searches 東京.", "query")]
]


def words(low, high):
    return " ".join(draw.choice(WORDS) for _ in range(draw.randint(low, high)))


def text():
    """Words, sometimes with blank edges that templates strip or keep."""
    edge = lambda: draw.choice([""] * 12 + ["\n", " ", "\n\n"])
    return edge() + words(1, 25) + edge()


def arguments():
    one = {draw.choice(["expression", "query"]): words(0, 6), **({"n": draw.choice([1, 2.5, None, True])} if draw.random() < 0.3 else {})}
    return json.dumps(one, ensure_ascii=draw.random() < 0.2, separators=draw.choice([(", ", ": "), (", ", ": "), (",", ":")]))


def reply(at, may_call):
    message = {"role": "assistant", "content": text() if draw.random() < 0.7 or not may_call else ""}
    if draw.random() < 0.4:
        message["reasoning_content"] = words(1, 20)
    if may_call:
        message["tool_calls"] = [
            {"id": f"call_{at}_{i}", "type": "function", "function": {"name": draw.choice(["calculator", "search"]), "arguments": arguments()}}
            for i in range(draw.choice([1, 1, 1, 2, 3]))
        ]
    return message


def written(message):
    """The text that the model sampled for a message, in the form of both templates."""
    out = f"<think>\n{message['reasoning_content']}\n</think>\n\n" if "reasoning_content" in message else ""
    out += message["content"]
    for i, call in enumerate(message.get("tool_calls", [])):
        out += ("\n" if i or message["content"] else "") + f'<tool_call>\n{{"name": "{call["function"]["name"]}", "arguments": {call["function"]["arguments"]}}}\n</tool_call>'
    return out


def ids_of(string):
    return tok.encode(string, add_special_tokens=False)


def rendered(messages, tools, opens):
    return tok.apply_chat_template(messages, tools=tools, add_generation_prompt=opens, tokenize=False)


def split_token(ids):
    """Another token sequence of the same text: a sampler is free to take it."""
    at = draw.randrange(len(ids))
    piece = tok.decode([ids[at]])
    if len(piece) > 1 and piece.isascii() and "<" not in piece:
        return ids[:at] + ids_of(piece[0]) + ids_of(piece[1:]) + ids[at + 1 :]
    return ids


for number in range(count):
    messages = [{"role": "system", "content": words(1, 12)}] if draw.random() < 0.6 else []
    messages.append({"role": "user", "content": text()})
    tools = TOOLS if messages[0]["role"] == "system" and draw.random() < 0.6 else None
    prompt = rendered(messages, tools, True)
    first = len(messages)
    ids, mask, output, before = [], [], "", prompt
    turns = draw.choice([1, 1, 2, 3])
    for turn in range(turns):
        message = reply(turn, tools is not None and turn < turns - 1)
        sampled = ids_of(written(message)) + ids_of("<|im_end|>")
        if draw.random() < 0.06:
            sampled = split_token(sampled)
        kept = [1] * len(sampled)
        flaw = draw.random()
        if flaw < 0.02:
            kept = [0] * len(kept)
        elif flaw < 0.04:
            kept[: len(kept) // 2] = [0] * (len(kept) // 2)
        elif flaw < 0.05:
            kept[-1] = 0
        ids, mask, output = ids + sampled, mask + kept, output + written(message) + "<|im_end|>"
        messages.append(message)
        if turn == turns - 1:
            break
        if "tool_calls" in message:
            messages += [{"role": "tool", "tool_call_id": c["id"], "name": c["function"]["name"], "content": text()} for c in message["tool_calls"]]
        else:
            messages.append({"role": "user", "content": text()})
        # What the environment adds is what the template writes between two replies.
        last = max(i for i, m in enumerate(messages) if m["role"] == "assistant")
        probe = messages[:last] + [{"role": "assistant", "content": "REPLY"}] + messages[last + 1 :]
        added = rendered(probe, tools, True).split("REPLY<|im_end|>")[-1]
        ids, mask, output = ids + ids_of(added), mask + [0] * len(ids_of(added)), output + added
    line = {"input": prompt, "output": output, "gts": "1", "score": float(draw.randint(0, 1)), "step": 1, "uid": f"u{number}", "id": number}
    if draw.random() < 0.03 and len(ids) > 3:  # cut by the length limit
        ids, mask = ids[:-2], mask[:-2]
        line["output"] = tok.decode(ids)
    line |= {"prompt_ids": ids_of(prompt), "response_ids": ids, "response_mask": mask}
    if draw.random() < 0.7:
        line |= {"messages": messages, **({"tools": tools} if tools else {})}
    print(json.dumps(line, ensure_ascii=False))
