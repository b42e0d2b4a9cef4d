// Property tests draw the same cases each time, so that a change is decided by what it changes. `npm run test:long` draws new ones, and so
// does FC_SEED=random. FC_SEED=NUMBER repeats a run.
import fc from 'fast-check';

const wanted = process.env.FC_SEED ?? (process.env.TIER === 'long' ? 'random' : '1');
if (wanted !== 'random') fc.configureGlobal({ seed: Number(wanted) });
