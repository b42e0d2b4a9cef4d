/** A run that cannot begin as it was asked for. */
export class SetupError extends Error {}
