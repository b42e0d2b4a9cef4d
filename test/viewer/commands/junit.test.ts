import { expect, test } from 'vitest';
import { xml } from '../../../src/viewer/commands/junit.ts';

test('JUnit keeps every character that XML has a form for', () => {
  expect(xml('a < "b" & 🙂\t\r\n')).toBe('a &lt; &quot;b&quot; &amp; 🙂\t\r\n');
  expect(xml('\u0000\u001b\ud83d \uffff')).toBe('\ufffd\ufffd\ufffd \ufffd');
});
