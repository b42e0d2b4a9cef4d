/** A pause between parts of long work, so that it does not block a waiting person. Work that knows how much it is says so. */
export type Rest = (done?: number, total?: number) => Promise<void> | undefined;
