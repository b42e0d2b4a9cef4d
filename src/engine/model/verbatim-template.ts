import type { Template } from '@huggingface/jinja';

/** The parts of a template's syntax tree used here; the library does not export its classes. */
interface TemplateNode {
  type: string;
  [key: string]: unknown;
}

/** An expression may yield the messages or one of them, a text containing a message's content, or neither. */
type Kind = 'messages' | 'text' | 'plain';

/** Keys of a message other than its content. */
const OTHER_KEYS = new Set(['role', 'name', 'tool_call_id', 'tool_calls', 'reasoning_content', 'thinking']);
const LOOP_KEYS = new Set(['index', 'index0', 'revindex', 'revindex0', 'first', 'last', 'length']);
/** Tests with the same answer for all texts. */
const KIND_TESTS = new Set(['defined', 'undefined', 'none', 'string', 'mapping', 'number', 'boolean', 'iterable']);

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
      reading.block((template.parsed as unknown as TemplateNode).body);
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
    for (const statement of body as TemplateNode[]) this.#statement(statement);
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
    const { type, value } = loopvar as TemplateNode;
    if (kind === 'text' || (kind === 'messages' && type !== 'Identifier')) throw new NotVerbatim();
    if (kind === 'messages') this.#messages.add(value as string);
    this.block(body);
    this.block(defaultBlock);
  }

  #set({ assignee, value, body }: TemplateNode): void {
    const { type, value: name } = assignee as TemplateNode;
    this.block(body);
    const kind = value === null ? 'text' : this.#kind(value);
    if (kind === 'plain') return;
    if (type !== 'Identifier') throw new NotVerbatim();
    if (kind === 'text') this.#texts.add(name as string);
    else this.#messages.add(name as string);
    if (this.#texts.has(name as string) && this.#messages.has(name as string)) throw new NotVerbatim();
  }

  #kind(value: unknown): Kind {
    const node = value as TemplateNode;
    switch (node.type) {
      case 'Identifier':
        return this.#messages.has(node.value as string)
          ? 'messages'
          : this.#texts.has(node.value as string)
            ? 'text'
            : 'plain';
      case 'StringLiteral':
      case 'IntegerLiteral':
      case 'FloatLiteral':
        return 'plain';
      case 'ArrayLiteral':
      case 'TupleLiteral':
        return this.#plain(...(node.value as TemplateNode[]));
      case 'MemberExpression':
        return this.#member(node);
      case 'BinaryExpression':
        return this.#binary(node);
      case 'UnaryExpression':
        if ((node.operator as TemplateNode).value === 'not') this.#kind(node.argument);
        else this.#plain(node.argument);
        return 'plain';
      case 'TestExpression': {
        const kind = this.#kind(node.operand);
        if (kind !== 'plain' && !KIND_TESTS.has((node.test as TemplateNode).value as string)) throw new NotVerbatim();
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
        return this.#plain(node.callee, ...(node.args as TemplateNode[]));
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
    const { type, value } = property as TemplateNode;
    const key = !computed || type === 'StringLiteral' ? value : null;
    if (kind === 'plain') {
      // A loop can see neighbouring messages.
      const isLoop = (object as TemplateNode).value === 'loop';
      if (isLoop && !LOOP_KEYS.has(key as string)) throw new NotVerbatim();
      if (computed) this.#index(property as TemplateNode);
      return 'plain';
    }
    if (kind === 'text') throw new NotVerbatim();
    if (key === 'content') return 'text';
    if (OTHER_KEYS.has(key as string)) return 'plain';
    if (key !== null && type !== 'IntegerLiteral') throw new NotVerbatim();
    this.#index(property as TemplateNode);
    // A name could hold the word "content".
    if (!isNumberNode(property as TemplateNode)) throw new NotVerbatim();
    return 'messages';
  }

  #index(property: TemplateNode): void {
    if (property.type !== 'SliceExpression') this.#plain(property);
    else this.#plain(...[property.start, property.stop, property.step].filter((part) => part !== undefined));
  }

  #binary({ operator, left, right }: TemplateNode): Kind {
    const word = (operator as TemplateNode).value;
    if (word === 'and' || word === 'or') return this.#either(left, right);
    if (word !== '+' && word !== '~') return this.#plain(left, right);
    const kind = this.#either(left, right);
    if (kind === 'messages') throw new NotVerbatim();
    return kind;
  }

  #filter({ operand, filter }: TemplateNode): Kind {
    const kind = this.#kind(operand);
    const { type, value, args } = filter as TemplateNode;
    if (kind === 'plain') return type === 'CallExpression' ? this.#plain(...(args as TemplateNode[])) : 'plain';
    if (kind === 'messages' && type === 'Identifier' && (value === 'length' || value === 'list'))
      return value === 'length' ? 'plain' : 'messages';
    throw new NotVerbatim();
  }
}

/** A slice, or a number: `0`, `-1`, `loop.index0 - 1`, `messages | length`. */
function isNumberNode({ type, argument, operator, left, right, object, filter }: TemplateNode): boolean {
  if (type === 'SliceExpression' || type === 'IntegerLiteral') return true;
  if (type === 'UnaryExpression') return isNumberNode(argument as TemplateNode);
  if (type === 'MemberExpression') return (object as TemplateNode).value === 'loop';
  if (type === 'FilterExpression') return (filter as TemplateNode).value === 'length';
  const word = type === 'BinaryExpression' && (operator as TemplateNode).value;
  return (word === '+' || word === '-') && isNumberNode(left as TemplateNode) && isNumberNode(right as TemplateNode);
}
