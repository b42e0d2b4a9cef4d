import { LANGUAGES } from '../../protocol.ts';
import { page } from './layout.ts';

/** sql has no runner, upstream either. */
const options = LANGUAGES.filter((language) => language !== 'sql').map((name) => `<option>${name}</option>`);

/** /playground/sandbox: one program, run. */
export const SANDBOX_PAGE = page(
  'Sandbox',
  `<form id="form">
<fieldset>
<label>language <select id="language">${options.join('')}</select></label>
<label>compile timeout <input id="compile" type="number" min="1" value="60"> s</label>
<label>run timeout <input id="run" type="number" min="1" value="60"> s</label>
</fieldset>
<label>code <textarea id="code" spellcheck="false">print("hello")</textarea></label>
<label>standard input <textarea id="stdin" class="small" spellcheck="false"></textarea></label>
<fieldset>
<label>files <input id="files" type="file" multiple></label>
<label>fetch these files <input id="fetch" placeholder="out.txt plot.png"></label>
</fieldset>
<button>run</button> <span id="status" class="status" role="status"></span>
</form>
<div id="result"></div>`,
  String.raw`
const read = (file) => new Promise((resolve, reject) => {
  const reader = new FileReader();
  reader.onload = () => resolve(reader.result.slice(reader.result.indexOf(',') + 1));
  reader.onerror = () => reject(reader.error);
  reader.readAsDataURL(file);
});
find('form').addEventListener('submit', async (event) => {
  event.preventDefault();
  find('status').textContent = 'running …';
  show(find('result'));
  try {
    const files = {};
    for (const file of find('files').files) files[file.name] = await read(file);
    const answer = await ask('/run_code', {
      language: find('language').value,
      code: find('code').value,
      stdin: find('stdin').value || null,
      compile_timeout: Number(find('compile').value),
      run_timeout: Number(find('run').value),
      files,
      fetch_files: find('fetch').value.split(/\s+/).filter(Boolean),
    });
    find('status').textContent = answer.status;
    const fetched = Object.entries(answer.files).map(([name, content]) => {
      const link = element('a', name);
      link.href = 'data:application/octet-stream;base64,' + content;
      link.download = name.split('/').pop();
      const line = document.createElement('p');
      line.append('file ', link);
      return line;
    });
    show(find('result'), ...ran(answer), ...fetched);
  } catch (error) {
    find('status').textContent = String(error.message);
  }
});`,
);
