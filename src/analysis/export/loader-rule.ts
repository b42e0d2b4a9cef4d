/** How a loader makes tokens of a row; `--tokenizer` does the same and compares the result with what was recorded. */
export interface LoaderRule {
  /**
   * whole: the template once over all messages; each: every message alone (verl); prefixes: what each further message
   * adds (NeMo-RL); prompt: the prompt with the header of a reply; slots: the replies apart from what is between them, by
   * a template of the trainer, which is taken to write turns as the tokenizer's does (LLaMA-Factory, ms-swift).
   */
  renders: 'whole' | 'each' | 'prefixes' | 'prompt' | 'slots';
  /**
   * generation: inside `{% generation %}`; flagged: there, in the replies that the row marks as trained; messages: the
   * model's messages without their headers; marked: those of them that the row marks as trained; headers: with their
   * headers; completion: all behind the prompt; null: not compared.
   */
  trains: 'generation' | 'flagged' | 'messages' | 'marked' | 'headers' | 'completion' | null;
  /** Every message goes out as its exact text. */
  isText?: true;
  /** It writes the results of tools as Hermes does, in one turn of the user. */
  joinsResults?: true;
  /** It parses the arguments of calls, and the template prints their value. */
  parsesCalls?: true;
}
