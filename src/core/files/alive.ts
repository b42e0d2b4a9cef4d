import { errorCode } from '../text/thrown.ts';

export function isProcessAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    // Any other error: it is alive, and belongs to another user.
    return errorCode(error) !== 'ESRCH';
  }
}
