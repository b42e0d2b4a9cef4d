import { view } from './commands/view.ts';

await view(process.argv.slice(2));
