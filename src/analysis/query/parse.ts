import { RE2JS } from 're2js';
import { itemAt } from '../../core/lists/at.ts';
import { CHECKS } from '../../core/rollout/checks.ts';
import { FACTS, factAt } from '../../core/rollout/facts.ts';
import { errorMessage } from '../../core/text/thrown.ts';
import { SIGNAL_NAMES } from '../signal/signal-audit.ts';
import type { Comparison, Expression, Literal } from './expression.ts';
import { AGAIN_NAMES, checkNamed, type Field, fieldNamed, nearField, RESERVED } from './fields.ts';
import { QueryError } from './query-error.ts';
import { type Token, tokensOf } from './tokens.ts';

const COMPARISONS = new Set(['==', '=', '!=', '<', '<=', '>', '>=']);
/** The deepest nesting of brackets and `!`; deeper recursion might overflow the stack. */
const MAX_DEPTH = 100;
/** The most conditions that one expression may join. */
const MAX_PARTS = 500;

/**
 * Reads a filter: comparisons (`score < 0.5`, `status == "done"`), patterns (`output ~ /sorry/i`, `!~`), `finding:tool_error`,
 * joined by `&&`, `||`, `!` and brackets.
 * @throws QueryError at the character that is wrong
 */
export function parseQuery(text: string): Expression {
  return new Parser(tokensOf(text)).whole();
}

class Parser {
  readonly #tokens: readonly Token[];
  #next = 0;
  #depth = 0;
  #parts = 0;

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens;
  }

  whole(): Expression {
    const expression = this.#or();
    const rest = this.#peek();
    if (rest.kind !== 'end')
      throw new QueryError(this.#isSign(')') ? 'no opening ( for this' : 'expected && or ||', rest.at);
    return expression;
  }

  #peek(): Token {
    return itemAt(this.#tokens, this.#next);
  }

  #take(): Token {
    const token = this.#peek();
    if (token.kind !== 'end') this.#next++;
    return token;
  }

  #isSign(value: string): boolean {
    const token = this.#peek();
    return token.kind === 'sign' && token.value === value;
  }

  #or(): Expression {
    let left = this.#and();
    while (this.#isSign('||')) {
      this.#take();
      left = { op: 'or', left, right: this.#and() };
    }
    return left;
  }

  #and(): Expression {
    let left = this.#not();
    while (this.#isSign('&&')) {
      this.#take();
      left = { op: 'and', left, right: this.#not() };
    }
    return left;
  }

  #not(): Expression {
    const token = this.#peek();
    if (this.#isSign('!')) return this.#deeper(token.at, () => ({ op: 'not', of: this.#not() }));
    if (!this.#isSign('(')) return this.#condition();
    return this.#deeper(token.at, () => {
      const inner = this.#or();
      if (!this.#isSign(')'))
        throw new QueryError(`no closing ) for the ( at character ${token.at + 1}`, this.#peek().at);
      this.#take();
      return inner;
    });
  }

  #deeper(at: number, read: () => Expression): Expression {
    if (++this.#depth > MAX_DEPTH) throw new QueryError(`more than ${MAX_DEPTH} brackets within each other`, at);
    this.#take();
    const expression = read();
    this.#depth--;
    return expression;
  }

  #condition(): Expression {
    const name = this.#take();
    if (++this.#parts > MAX_PARTS) throw new QueryError(`more than ${MAX_PARTS} conditions`, name.at);
    if (name.kind !== 'name')
      throw new QueryError(
        name.kind === 'end'
          ? 'a condition is missing, such as score < 0.5'
          : 'expected a name, such as score or output',
        name.at,
      );
    if (name.value === 'finding' && this.#isSign(':')) return this.#finding();
    if (RESERVED.has(name.value)) throw new QueryError(`${name.value} is a value: write the name first`, name.at);
    const field = fieldNamed(name.value);
    if (field.type === 'extra' && name.value.startsWith('again.'))
      throw new QueryError(`of calls that were run again are known ${AGAIN_NAMES.join(', ')}`, name.at);
    const meant = field.type === 'extra' && !name.value.startsWith('extras.') ? nearField(name.value) : null;
    if (meant !== null)
      throw new QueryError(
        `did you mean ${meant}? If the records have a key of this name, write extras.${name.value}`,
        name.at,
      );
    // A boolean needs no comparison.
    if (field.type === 'read' && !this.#isCompared()) return { op: 'compare', field, by: '==', value: true };
    const sign = this.#take();
    if (sign.kind === 'name' && sign.value === 'in') return this.#range(name.value, field);
    if (sign.kind === 'sign' && COMPARISONS.has(sign.value)) {
      const by = (sign.value === '=' ? '==' : sign.value) as Comparison;
      return { op: 'compare', field, by, value: this.#literal(name.value, field, by) };
    }
    if (sign.kind === 'sign' && (sign.value === '~' || sign.value === '!~')) {
      const match = this.#match(name.value, field, sign.at);
      return sign.value === '~' ? match : { op: 'not', of: match };
    }
    throw new QueryError(
      `expected ${isNumberField(field) ? '< <= == != >= or >' : '== != ~ or !~'} after ${name.value}`,
      sign.at,
    );
  }

  #isCompared(): boolean {
    const token = this.#peek();
    return token.kind === 'sign' && (COMPARISONS.has(token.value) || token.value.endsWith('~'));
  }

  /** `step in 100..120`: inclusive. */
  #range(name: string, field: Field): Expression {
    const from = this.#literal(name, field, '>=');
    if (!this.#isSign('..')) throw new QueryError('a range is written 100..120', this.#peek().at);
    this.#take();
    const to = this.#literal(name, field, '<=');
    return {
      op: 'and',
      left: { op: 'compare', field, by: '>=', value: from },
      right: { op: 'compare', field, by: '<=', value: to },
    };
  }

  #finding(): Expression {
    this.#take();
    const name = this.#take();
    const check = name.kind === 'name' ? checkNamed(name.value) : null;
    if (check !== null) return { op: 'finding', check };
    const ofStep = SIGNAL_NAMES.find((one) => name.kind === 'name' && one === name.value);
    if (ofStep !== undefined) return { op: 'signal', check: ofStep };
    throw new QueryError(`unknown finding; known: ${[...CHECKS, ...SIGNAL_NAMES].join(', ')}`, name.at);
  }

  #literal(name: string, field: Field, by: Comparison): Literal {
    const token = this.#take();
    // Verdicts, labels and tool names are words; the others are requested by field name.
    const literal = literalOf(token);
    const words = field.type === 'fact' ? itemAt(FACTS, factAt(field.name)).words : undefined;
    const takesWords = field.type === 'again' || field.type === 'label' || words !== undefined;
    const isWord = takesWords && token.kind === 'name' && literal === undefined;
    const value = isWord ? token.value : literal;
    if (value === undefined)
      throw new QueryError(
        token.kind === 'pattern' ? 'a pattern goes with ~ or !~' : 'expected a value: a number or "text"',
        token.at,
      );
    const isOrder = by !== '==' && by !== '!=';
    if (words !== undefined && value !== null && !words.includes(value as string))
      throw new QueryError(`${name} is one of ${words.join(', ')}`, token.at);
    const isDate = typeof value === 'object' && value !== null;
    if (isOrder && typeof value !== 'number' && !isDate) throw new QueryError(`${by} compares numbers`, token.at);
    if (isOrder && field.type === 'text') throw new QueryError(`${name} is text: == != ~ or !~`, token.at);
    if (isNumberField(field) && typeof value !== 'number' && value !== null)
      throw new QueryError(`${name} is a number`, token.at);
    if (field.type === 'read' && typeof value !== 'boolean')
      throw new QueryError('read is true or false; alone it is true, !read is false', token.at);
    if (field.type === 'text' && typeof value !== 'string' && value !== null)
      throw new QueryError(`${name} is text: put it in "quotes"`, token.at);
    return value;
  }

  #match(name: string, field: Field, at: number): Expression {
    if (isNumberField(field)) throw new QueryError(`${name} is a number: < <= == != >= or >`, at);
    const token = this.#take();
    // Quoted text is matched literally.
    if (token.kind === 'string') return { op: 'match', field, source: RE2JS.quote(token.value), ignoresCase: false };
    if (token.kind !== 'pattern') throw new QueryError('expected /a pattern/ or "text"', token.at);
    const { source, ignoresCase } = token;
    try {
      RE2JS.compile(source, ignoresCase ? RE2JS.CASE_INSENSITIVE : 0);
    } catch (error) {
      throw new QueryError(errorMessage(error), token.at);
    }
    return { op: 'match', field, source, ignoresCase };
  }
}

const isNumberField = (field: Field): boolean =>
  field.type === 'number' || field.type === 'group' || (field.type === 'tool' && field.part === null);

function literalOf(token: Token): Literal | undefined {
  if (token.kind === 'number' || token.kind === 'string' || token.kind === 'date') return token.value;
  if (token.kind !== 'name') return undefined;
  return token.value === 'true' ? true : token.value === 'false' ? false : token.value === 'null' ? null : undefined;
}
