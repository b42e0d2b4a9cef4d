import config from './vitest.config';
const c = config as any;
c.test.setupFiles = [...c.test.setupFiles, '/tmp/h-h36n/cpu-setup.ts'];
export default c;
