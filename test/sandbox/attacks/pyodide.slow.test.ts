import { attack } from './attacked-server.ts';

attack('pyodide');
