/** A pause between parts of long work, where a person waits beside it. */
export type Rest = () => Promise<void> | undefined;
