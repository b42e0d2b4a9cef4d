import { page } from './layout.ts';

/** /playground/datasets: a problem's prompt, and a completion of it, judged. */
export const DATASETS_PAGE = page(
  'Datasets',
  `<form id="form">
<fieldset>
<label>dataset <select id="dataset"></select></label>
<label>problem <input id="id" list="ids"><datalist id="ids"></datalist></label>
</fieldset>
<label>config (JSON: language, extra, run_timeout …) <textarea id="config" class="small" spellcheck="false">{}</textarea></label>
<button id="show" type="button">show the prompt</button>
<pre id="prompt"></pre>
<label>completion <textarea id="completion" spellcheck="false"></textarea></label>
<button>submit</button> <span id="status" class="status" role="status"></span>
</form>
<div id="result"></div>`,
  String.raw`
const failed = (error) => { find('status').textContent = String(error.message); };
const chosen = () => {
  const id = find('id').value;
  return { dataset: find('dataset').value, config: JSON.parse(find('config').value), id: /^\d{1,15}$/.test(id) ? Number(id) : id };
};
async function listProblems() {
  const { dataset, config } = chosen();
  const ids = await ask('/list_ids', { dataset, config });
  show(find('ids'), ...ids.slice(0, 2000).map((id) => {
    const option = document.createElement('option');
    option.value = id;
    return option;
  }));
  find('id').value = ids[0] ?? '';
}
async function showPrompt() {
  const { prompt } = await ask('/get_prompt_by_id', chosen());
  find('prompt').textContent = typeof prompt === 'string' ? prompt : JSON.stringify(prompt, null, 2);
}
find('dataset').addEventListener('change', () => listProblems().catch(failed));
find('show').addEventListener('click', () => showPrompt().catch(failed));
find('form').addEventListener('submit', async (event) => {
  event.preventDefault();
  find('status').textContent = 'judging …';
  show(find('result'));
  try {
    const answer = await ask('/submit', { ...chosen(), completion: find('completion').value });
    const passed = answer.tests.filter((test) => test.passed).length;
    find('status').textContent = (answer.accepted ? 'accepted' : 'not accepted') + ', ' + passed + ' of ' + answer.tests.length + ' tests passed';
    show(find('result'), element('strong', 'extracted code'), element('pre', answer.extracted_code),
      ...answer.tests.flatMap((test, index) => [
        element('h2', 'test ' + (index + 1) + ': ' + (test.passed ? 'passed' : 'failed')),
        ...(test.test_info ? [element('pre', JSON.stringify(test.test_info, null, 2))] : []),
        ...ran(test.exec_info),
      ]));
  } catch (error) {
    failed(error);
  }
});
ask('/list_datasets').then(async (names) => {
  show(find('dataset'), ...names.map((name) => element('option', name)));
  if (names.length > 0) await listProblems();
}).catch(failed);`,
);
