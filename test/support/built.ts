import { build } from '../../scripts/setup.mjs';

/** Tests that start the program must not meet the bundle of yesterday. */
export const setup = (): void => build();
