// Each recorded exchange on each backend.
import './server-golden.test.ts';
