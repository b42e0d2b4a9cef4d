// Says at the end of the test run which backends were not tested, so that a green run never hides it.
import { CONFINING, lack } from './backends.ts';

export default () => () => {
  for (const backend of CONFINING) {
    if (lack[backend] !== null) console.log(`skipped: the sandbox suites on ${backend}: ${lack[backend]}`);
  }
};
