import { attack } from './attacked-server.ts';

attack('bubblewrap');
attack('bubblewrap', [2, 1]);
