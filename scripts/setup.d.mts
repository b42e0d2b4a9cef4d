export const root: string;
export function install(): void;
export function build(): void;
export function become(command: string, args: string[], options?: object): never;
