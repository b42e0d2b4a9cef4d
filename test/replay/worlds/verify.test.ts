import { describe, expect, it } from 'vitest';
import { recordedImage } from '../../../src/replay/worlds/recorded-image.ts';
import { junitOutcomes, namedTests, pytestOutcomes } from '../../../src/replay/worlds/verify.ts';

describe('the tests of a verifier', () => {
  it('are read from lines of pytest, with their progress or in its summary', () => {
    const output = [
      'tests/a.py::test_one PASSED                    [ 50%]',
      'tests/a.py::test_two[a b] FAILED',
      'SKIPPED tests/a.py::test_three',
      'FAILED tests/b.py::test_four - AssertionError: 1 != 2',
      'std::vector is no test',
    ].join('\n');
    expect(pytestOutcomes(output)).toEqual([
      { name: 'tests/a.py::test_one', status: 'passed' },
      { name: 'tests/a.py::test_two[a b]', status: 'failed' },
      { name: 'tests/a.py::test_three', status: 'skipped' },
      { name: 'tests/b.py::test_four', status: 'failed' },
    ]);
  });

  it('are read from a JUnit report', () => {
    const xml =
      '<testsuite><testcase classname="a" name="x &lt; y" time="0"/><testcase name="y"><failure>no</failure></testcase></testsuite>';
    expect(junitOutcomes(xml)).toEqual([
      { name: 'a::x < y', status: 'passed' },
      { name: 'y', status: 'failed' },
    ]);
  });

  it('that must pass are named by the record, as lists or as JSON in a text', () => {
    expect(namedTests({ instance: { FAIL_TO_PASS: '["a::x"]', PASS_TO_PASS: ['a::y'] } })).toEqual(['a::x', 'a::y']);
    expect(namedTests({ messages: [] })).toEqual([]);
  });
});

it('an image that the record names is found, with the key that names it', () => {
  expect(recordedImage({ info: { config: { environment: { image: 'python:3.12' } } } })).toEqual({
    name: 'python:3.12',
    how: 'info.config.environment.image',
  });
  const settings = JSON.stringify({ env: { deployment: { image: 'sweb/x:latest' } } });
  expect(recordedImage({ replay_config: settings })?.name).toBe('sweb/x:latest');
  expect(recordedImage({ instance_id: 'django__django-11099' })?.name).toBe(
    'docker.io/swebench/sweb.eval.x86_64.django_1776_django-11099:latest',
  );
  expect(recordedImage({ instance_id: 'mine', docker_image: '; rm -rf /' })).toBeNull();
  for (const name of ['host', 'rootfs:/home/me', 'oci:x', '--help'])
    for (const record of [{ docker_image: name }, { task: { path: name } }]) expect(recordedImage(record)).toBeNull();
});
