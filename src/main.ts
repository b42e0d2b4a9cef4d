import manifest from '../package.json' with { type: 'json' };

/** Counts the changes of the JSON keys that scripts rely on; docs/json.md describes them. */
const JSON_CONTRACT = 2;

const args = process.argv.slice(2);
if (args[0] === '--version' && args.length <= 2 && (args[1] ?? '--json') === '--json') {
  // Answered before anything else is loaded: scripts ask for it often.
  const { version } = manifest;
  process.stdout.write(args[1] ? `${JSON.stringify({ version, json: JSON_CONTRACT })}\n` : `${version}\n`);
} else {
  const { keepCompiled } = await import('./core/files/compiled.ts');
  keepCompiled();
  // Nothing waits to be written by then, and the system takes a heap apart sooner than Node does.
  process.once('beforeExit', () => process.exit());
  const { runProgram } = await import('./viewer/commands/program.ts');
  await runProgram(args);
}
