/** How a loader makes tokens of a row; `--tokenizer` does the same and compares the result with what was recorded. */
export interface LoaderRule {
  /**
   * whole: the template once over all messages; each: every message alone (verl); prefixes: what each further message
   * adds (NeMo-RL); prompt: the prompt with the header of a reply.
   */
  renders: 'whole' | 'each' | 'prefixes' | 'prompt';
  /**
   * generation: inside `{% generation %}`; flagged: there, in the replies that the row marks as trained; messages: the
   * model's messages without their headers; headers: with them; completion: all behind the prompt; null: not compared.
   */
  trains: 'generation' | 'flagged' | 'messages' | 'headers' | 'completion' | null;
  /** Every message goes out as its exact text. */
  isText?: true;
  /** It parses the arguments of calls, and the template prints their value. */
  parsesCalls?: true;
}
