import type { Template } from '@huggingface/jinja';

/** The parts of a template's syntax tree used here; the library does not export its classes. */
interface TemplateNode {
  type: string;
  [key: string]: unknown;
}

const isNode = (value: unknown): value is TemplateNode =>
  typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string';

/** A part of a node that must be a node. */
function nodeIn(value: unknown): TemplateNode {
  if (!isNode(value)) throw new NotVerbatim();
  return value;
}

const nodesIn = (value: unknown): TemplateNode[] => (Array.isArray(value) ? value.map(nodeIn) : [nodeIn(value)]);

function nameIn({ value }: TemplateNode): string {
  if (typeof value !== 'string') throw new NotVerbatim();
  return value;
}

/** An expression may yield the messages or one of them, a text containing a message's content, or neither. */
type Kind = 'messages' | 'text' | 'plain';

/** Keys of a message other than its content. */
const OTHER_KEYS: ReadonlySet<unknown> = new Set([
  'role',
  'name',
  'tool_call_id',
  'tool_calls',
  'reasoning_content',
  'thinking',
]);
const LOOP_KEYS: ReadonlySet<unknown> = new Set([
  'index',
  'index0',
  'revindex',
  'revindex0',
  'first',
  'last',
  'length',
]);
/** Tests with the same answer for all texts. */
const KIND_TESTS: ReadonlySet<unknown> = new Set([
  'defined',
  'undefined',
  'none',
  'string',
  'mapping',
  'number',
  'boolean',
  'iterable',
]);

class NotVerbatim extends Error {}

/**
 * Whether a template copies message contents verbatim, and tests nothing about them except whether they are empty. Two conversations
 * of the same form then render alike, with different words in the same places. Anything not known to be harmless counts as harmful.
 */
export function isVerbatim(template: Template): boolean {
  const reading = new Reading();
  try {
    // A name may be used before it is set.
    for (let names = -1; names !== reading.names; ) {
      names = reading.names;
      reading.block(nodeIn(template.parsed).body);
    }
    return true;
  } catch (error) {
    if (error instanceof NotVerbatim) return false;
    throw error;
  }
}

class Reading {
  readonly #messages = new Set(['messages']);
  readonly #texts = new Set<string>();

  get names(): number {
    return this.#messages.size + this.#texts.size;
  }

  block(body: unknown): void {
    for (const statement of nodesIn(body)) this.#statement(statement);
  }

  #statement(node: TemplateNode): void {
    switch (node.type) {
      case 'Comment':
      case 'Break':
      case 'Continue':
        return;
      case 'If':
        this.#kind(node.test);
        this.block(node.body);
        this.block(node.alternate);
        return;
      case 'For':
        this.#for(node);
        return;
      case 'Set':
        this.#set(node);
        return;
      default:
        if (this.#kind(node) === 'messages') throw new NotVerbatim();
    }
  }

  #for({ loopvar, iterable, body, defaultBlock }: TemplateNode): void {
    const kind = this.#kind(iterable);
    const name = nodeIn(loopvar);
    if (kind === 'text' || (kind === 'messages' && name.type !== 'Identifier')) throw new NotVerbatim();
    if (kind === 'messages') this.#messages.add(nameIn(name));
    this.block(body);
    this.block(defaultBlock);
  }

  #set({ assignee, value, body }: TemplateNode): void {
    const target = nodeIn(assignee);
    this.block(body);
    const kind = value === null ? 'text' : this.#kind(value);
    if (kind === 'plain') return;
    if (target.type !== 'Identifier') throw new NotVerbatim();
    const name = nameIn(target);
    if (kind === 'text') this.#texts.add(name);
    else this.#messages.add(name);
    if (this.#texts.has(name) && this.#messages.has(name)) throw new NotVerbatim();
  }

  #kind(value: unknown): Kind {
    const node = nodeIn(value);
    switch (node.type) {
      case 'Identifier':
        if (this.#messages.has(nameIn(node))) return 'messages';
        return this.#texts.has(nameIn(node)) ? 'text' : 'plain';
      case 'StringLiteral':
      case 'IntegerLiteral':
      case 'FloatLiteral':
        return 'plain';
      case 'ArrayLiteral':
      case 'TupleLiteral':
        return this.#plain(...nodesIn(node.value));
      case 'MemberExpression':
        return this.#member(node);
      case 'BinaryExpression':
        return this.#binary(node);
      case 'UnaryExpression':
        if (nodeIn(node.operator).value === 'not') this.#kind(node.argument);
        else this.#plain(node.argument);
        return 'plain';
      case 'TestExpression': {
        const kind = this.#kind(node.operand);
        if (kind !== 'plain' && !KIND_TESTS.has(nodeIn(node.test).value)) throw new NotVerbatim();
        return 'plain';
      }
      case 'Ternary':
        this.#kind(node.condition);
        return this.#either(node.trueExpr, node.falseExpr);
      case 'FilterExpression':
        return this.#filter(node);
      case 'SelectExpression': {
        const kind = this.#kind(node.lhs);
        this.#kind(node.test);
        return kind;
      }
      case 'CallExpression':
        return this.#plain(node.callee, ...nodesIn(node.args));
      case 'KeywordArgumentExpression':
        return this.#plain(node.value);
      default:
        throw new NotVerbatim();
    }
  }

  /** None of these may contain message contents. */
  #plain(...values: unknown[]): 'plain' {
    for (const value of values) if (this.#kind(value) !== 'plain') throw new NotVerbatim();
    return 'plain';
  }

  #either(...values: unknown[]): Kind {
    const kinds = values.map((value) => this.#kind(value));
    if (kinds.includes('messages') && kinds.includes('text')) throw new NotVerbatim();
    return kinds.find((kind) => kind !== 'plain') ?? 'plain';
  }

  #member({ object, property, computed }: TemplateNode): Kind {
    const kind = this.#kind(object);
    const index = nodeIn(property);
    const { type, value } = index;
    const key = !computed || type === 'StringLiteral' ? value : null;
    if (kind === 'plain') {
      // A loop can see neighbouring messages.
      const isLoop = nodeIn(object).value === 'loop';
      if (isLoop && !LOOP_KEYS.has(key)) throw new NotVerbatim();
      if (computed) this.#index(index);
      return 'plain';
    }
    if (kind === 'text') throw new NotVerbatim();
    if (key === 'content') return 'text';
    if (OTHER_KEYS.has(key)) return 'plain';
    if (key !== null && type !== 'IntegerLiteral') throw new NotVerbatim();
    this.#index(index);
    // A name could hold the word "content".
    if (!isNumberNode(index)) throw new NotVerbatim();
    return 'messages';
  }

  #index(property: TemplateNode): void {
    if (property.type !== 'SliceExpression') this.#plain(property);
    else this.#plain(...[property.start, property.stop, property.step].filter((part) => part !== undefined));
  }

  #binary({ operator, left, right }: TemplateNode): Kind {
    const word = nodeIn(operator).value;
    if (word === 'and' || word === 'or') return this.#either(left, right);
    if (word !== '+' && word !== '~') return this.#plain(left, right);
    const kind = this.#either(left, right);
    if (kind === 'messages') throw new NotVerbatim();
    return kind;
  }

  #filter({ operand, filter }: TemplateNode): Kind {
    const kind = this.#kind(operand);
    const { type, value, args } = nodeIn(filter);
    if (kind === 'plain') return type === 'CallExpression' ? this.#plain(...nodesIn(args)) : 'plain';
    if (kind === 'messages' && type === 'Identifier' && (value === 'length' || value === 'list'))
      return value === 'length' ? 'plain' : 'messages';
    throw new NotVerbatim();
  }
}

/** A slice, or a number: `0`, `-1`, `loop.index0 - 1`, `messages | length`. */
function isNumberNode(node: unknown): boolean {
  const { type, argument, operator, left, right, object, filter } = nodeIn(node);
  if (type === 'SliceExpression' || type === 'IntegerLiteral') return true;
  if (type === 'UnaryExpression') return isNumberNode(argument);
  if (type === 'MemberExpression') return nodeIn(object).value === 'loop';
  if (type === 'FilterExpression') return nodeIn(filter).value === 'length';
  const word = type === 'BinaryExpression' && nodeIn(operator).value;
  return (word === '+' || word === '-') && isNumberNode(left) && isNumberNode(right);
}
