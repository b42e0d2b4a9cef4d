import { randomUUID } from 'node:crypto';
import { printJson } from '../../core/json/print.ts';
import type { JsonObject } from '../../core/json/value.ts';
import type { Message } from '../common/message.ts';
import { RecentTexts } from './recent-texts.ts';

type Render = (
  messages: readonly Message[],
  tools: readonly JsonObject[],
  addGenerationPrompt: boolean,
  kwargs: JsonObject,
) => string;

/** The text of conversations of one form: `texts[i]`, then the content of message `turns[i]`, and so on. */
interface TemplateFrame {
  texts: string[];
  turns: number[];
}

const KEPT = 2_000_000;

/** Caches rendering for a template that copies message contents verbatim: each form of a conversation is rendered once. */
export class TemplateFrames {
  readonly #render: Render;
  readonly #frames = new RecentTexts<TemplateFrame>(KEPT);
  /** Placeholder for a message's content; unique. */
  readonly #place = `ROLLOUTVIEWER${randomUUID().replaceAll('-', '')}TURN`;
  readonly #places = new RegExp(`${this.#place}(\\d+)END`);

  constructor(render: Render) {
    this.#render = render;
  }

  /** @returns null for a conversation that contains more than text */
  render(...[messages, tools, addGenerationPrompt, kwargs]: Parameters<Render>): string | null {
    let key = printJson([tools, addGenerationPrompt, kwargs]);
    for (const message of messages) {
      const form = messageForm(message);
      if (form === null) return null;
      key += form;
    }
    const known = this.#frames.get(key);
    const frame = known ?? this.#frame(messages, tools, addGenerationPrompt, kwargs);
    if (known === undefined) this.#frames.set(key, frame, frame.texts.join('').length);
    const { texts, turns } = frame;
    let text = texts[0] ?? '';
    for (const [at, turn] of turns.entries()) text += `${messages[turn]?.content ?? ''}${texts[at + 1] ?? ''}`;
    return text;
  }

  #frame(...[messages, ...setting]: Parameters<Render>): TemplateFrame {
    const places = messages.map((message, turn) =>
      message.content === '' ? message : { ...message, content: `${this.#place}${turn}END` },
    );
    const parts = this.#render(places, ...setting).split(this.#places);
    return {
      texts: parts.filter((_, at) => at % 2 === 0),
      turns: parts.filter((_, at) => at % 2 === 1).map(Number),
    };
  }
}

/** A message without its content; null if it contains more than text. */
function messageForm(message: Message): string | null {
  const { role, content, name, tool_call_id } = message;
  if (typeof content !== 'string') return null;
  for (const key in message)
    if (key !== 'role' && key !== 'content' && key !== 'name' && key !== 'tool_call_id') return null;
  if (!isString(name) || !isString(tool_call_id)) return null;
  return JSON.stringify([content === '', role, name, tool_call_id]);
}

const isString = (value: unknown): boolean => value === undefined || typeof value === 'string';
