/** A word of a command. `isPlain` = nothing in it is expanded by the shell, so `text` is what the program gets. */
export interface ShellWord {
  text: string;
  isPlain: boolean;
}

interface Redirect {
  op: string;
  /** The file descriptor before the operator, or null. */
  fd: number | null;
  target: ShellWord;
  /** The text of a here-document; `isPlain` if its delimiter is quoted. */
  body?: ShellWord;
}

export interface SimpleCommand {
  words: ShellWord[];
  redirects: Redirect[];
  /** The operator after it; '' for the last. */
  next: '' | ';' | '&&' | '||' | '|' | '&';
}

/** Operators that make a text more than a list of simple commands. */
const COMPOUND = new Set(
  'if then else elif fi for while until do done case esac select function time { } ! [[ (('.split(' '),
);

/**
 * The simple commands of a shell text, in order (the grammar of POSIX.1-2017, 2.10, without compound commands). null if
 * the text holds anything else, or does not parse.
 */
export function readShell(text: string): SimpleCommand[] | null {
  return new ShellReader(text).read();
}

class ShellReader {
  readonly #text: string;
  #at = 0;
  #bodies: { redirect: Redirect; delimiter: string; isQuoted: boolean; strips: boolean }[] = [];

  constructor(text: string) {
    this.#text = text.replaceAll('\r\n', '\n');
  }

  read(): SimpleCommand[] | null {
    const commands: SimpleCommand[] = [];
    let current: SimpleCommand = { words: [], redirects: [], next: '' };
    const end = (next: SimpleCommand['next']): boolean => {
      if (current.words.length + current.redirects.length === 0) return next === ';' || next === '';
      current.next = next;
      commands.push(current);
      current = { words: [], redirects: [], next: '' };
      return true;
    };
    while (this.#at < this.#text.length) {
      const c = this.#text[this.#at] ?? '';
      const two = this.#text.slice(this.#at, this.#at + 2);
      if (c === '\\' && two === '\\\n') this.#at += 2;
      else if (c === ' ' || c === '\t') this.#at++;
      else if (c === '#') this.#skipComment();
      else if (c === '\n') {
        this.#at++;
        if (!this.#readBodies()) return null;
        const last = commands.at(-1);
        const goesOn = current.words.length === 0 && last !== undefined && ['&&', '||', '|'].includes(last.next);
        if (!goesOn && !end(';')) return null;
      } else if (c === '(' || c === ')' || c === '`') return null;
      else if (two === '&&' || two === '||') {
        this.#at += 2;
        if (!end(two)) return null;
      } else if (two === '&>') {
        if (!this.#redirect(current, null)) return null;
      } else if (two === ';;') return null;
      else if (c === ';' || c === '|' || c === '&') {
        this.#at++;
        if (c === '|' && this.#text[this.#at] === '&') return null;
        if (!end(c)) return null;
      } else if (c === '<' || c === '>') {
        if (!this.#redirect(current, null)) return null;
      } else {
        const digits = /^\d+(?=[<>])/.exec(this.#text.slice(this.#at, this.#at + 8));
        if (digits !== null) {
          this.#at += digits[0].length;
          if (!this.#redirect(current, Number(digits[0]))) return null;
          continue;
        }
        const word = this.#word();
        if (word === null) return null;
        if (current.words.length === 0 && COMPOUND.has(word.text)) return null;
        current.words.push(word);
      }
    }
    if (!this.#readBodies()) return null;
    return end('') ? commands : null;
  }

  #skipComment(): void {
    const end = this.#text.indexOf('\n', this.#at);
    this.#at = end === -1 ? this.#text.length : end;
  }

  #redirect(command: SimpleCommand, fd: number | null): boolean {
    const op = /^(?:&>>|&>|<<<|<<-|<<|<&|<>|<|>>|>&|>\||>)/.exec(this.#text.slice(this.#at, this.#at + 3))?.[0];
    if (op === undefined) return false;
    this.#at += op.length;
    while (/[ \t]/.test(this.#text[this.#at] ?? '')) this.#at++;
    // Process substitution.
    if (this.#text[this.#at] === '(') return false;
    const from = this.#at;
    const target = this.#word();
    if (target === null) return false;
    const redirect: Redirect = { op, fd, target };
    command.redirects.push(redirect);
    if (op === '<<' || op === '<<-') {
      const written = this.#text.slice(from, this.#at);
      const isQuoted = /['"\\]/.test(written);
      this.#bodies.push({
        redirect,
        delimiter: isQuoted ? target.text : written,
        isQuoted,
        strips: op === '<<-',
      });
    }
    return true;
  }

  /** The texts of the here-documents that began on the line before. */
  #readBodies(): boolean {
    for (const { redirect, delimiter, isQuoted, strips } of this.#bodies.splice(0)) {
      const lines: string[] = [];
      for (;;) {
        if (this.#at >= this.#text.length) return false;
        const end = this.#text.indexOf('\n', this.#at);
        const line = this.#text.slice(this.#at, end === -1 ? undefined : end);
        this.#at = end === -1 ? this.#text.length : end + 1;
        const kept = strips ? line.replace(/^\t+/, '') : line;
        if (kept === delimiter) break;
        lines.push(kept);
      }
      const text = lines.map((line) => `${line}\n`).join('');
      redirect.body = { text, isPlain: isQuoted || !/[$`\\]/.test(text) };
    }
    return true;
  }

  #word(): ShellWord | null {
    let text = '';
    let isPlain = true;
    const from = this.#at;
    for (; this.#at < this.#text.length; this.#at++) {
      const c = this.#text[this.#at] ?? '';
      if (c === '\\') {
        const next = this.#text[this.#at + 1];
        if (next === undefined) return null;
        if (next !== '\n') text += next;
        this.#at++;
      } else if (c === "'") {
        const end = this.#text.indexOf("'", this.#at + 1);
        if (end === -1) return null;
        text += this.#text.slice(this.#at + 1, end);
        this.#at = end;
      } else if (c === '"') {
        const quoted = this.#doubleQuoted();
        if (quoted === null) return null;
        text += quoted.text;
        isPlain &&= quoted.isPlain;
      } else if (c === '$' || c === '`') {
        const end = endOfExpansion(this.#text, this.#at);
        if (end === null) return null;
        text += this.#text.slice(this.#at, end);
        this.#at = end - 1;
        isPlain = false;
      } else if (/[\s;&|<>()]/.test(c)) break;
      else {
        if (
          /[*?[]/.test(c) ||
          (c === '~' && this.#at === from) ||
          (c === '{' && /^\{[^}\s]*[,.]/.test(this.#text.slice(this.#at)))
        )
          isPlain = false;
        text += c;
      }
    }
    return this.#at === from ? null : { text, isPlain };
  }

  #doubleQuoted(): ShellWord | null {
    let text = '';
    let isPlain = true;
    for (this.#at++; this.#at < this.#text.length; this.#at++) {
      const c = this.#text[this.#at] ?? '';
      if (c === '"') return { text, isPlain };
      if (c === '\\' && /[$`"\\\n]/.test(this.#text[this.#at + 1] ?? '')) {
        this.#at++;
        if (this.#text[this.#at] !== '\n') text += this.#text[this.#at];
      } else if (c === '$' || c === '`') {
        const end = endOfExpansion(this.#text, this.#at);
        if (end === null) return null;
        // A dollar before a blank or a quote is literal.
        if (end - this.#at > 1) isPlain = false;
        text += this.#text.slice(this.#at, end);
        this.#at = end - 1;
      } else text += c;
    }
    return null;
  }
}

/** The end of the expansion that begins at `at`; null if it is not closed. */
function endOfExpansion(text: string, at: number): number | null {
  if (text[at] === '`') {
    const end = text.indexOf('`', at + 1);
    return end === -1 ? null : end + 1;
  }
  const next = text[at + 1] ?? '';
  if (next === '(' || next === '{') {
    const close = next === '(' ? ')' : '}';
    let depth = 0;
    for (let i = at + 1; i < text.length; i++) {
      if (text[i] === next) depth++;
      else if (text[i] === close && --depth === 0) return i + 1;
    }
    return null;
  }
  const name = /^(?:[A-Za-z_]\w*|[0-9@*#?$!-])/.exec(text.slice(at + 1, at + 200))?.[0] ?? '';
  return at + 1 + name.length;
}
