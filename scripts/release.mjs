// node scripts/release.mjs TAG [--out DIR] [--url BASE] [--maintainer LOGIN]: builds what a release consists of from a tag, into DIR: the npm package, the wheel,
// an executable for this platform, a recipe for conda and a formula for Homebrew, and SHA256SUMS. --dry takes the last commit instead of a tag. A recipe for conda-forge names a
// maintainer by their GitHub login. Nothing is published.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { install, root } from './setup.mjs';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    out: { type: 'string' },
    url: { type: 'string' },
    maintainer: { type: 'string' },
    dry: { type: 'boolean', default: false },
  },
});
const [tag] = positionals;
if ((tag === undefined) !== values.dry) {
  console.error('node scripts/release.mjs TAG [--out DIR] [--url BASE] [--maintainer LOGIN], or --dry');
  process.exit(2);
}
const commit = values.dry ? 'HEAD' : `refs/tags/${tag}`;
const out = resolve(values.out ?? join(root, 'release'));

const run = (command, args, cwd) => execFileSync(command, args, { cwd, stdio: ['ignore', 'pipe', 2] });
/** Only what the commit holds is built, whatever lies in the working directory. */
function checkOut(folder) {
  const files = execFileSync('git', ['archive', commit], { cwd: root, maxBuffer: 1 << 30 });
  execFileSync('tar', ['x', '-C', folder], { input: files });
}

const sum = (path) => createHash('sha256').update(readFileSync(path)).digest('hex');

/** In the form of conda's `recipe.yaml`, version 1. */
const recipe = ({ version, description, license }, url, sha256) => `schema_version: 1

package:
  name: rollout-viewer
  version: "${version}"

source:
  url: ${url}
  sha256: ${sha256}

build:
  number: 0
  noarch: generic
  script:
    - npm install --global --ignore-scripts --omit=optional --no-audit --no-fund --prefix "$PREFIX" "$(npm pack --ignore-scripts --silent)"

requirements:
  build:
    - nodejs >=20.19
  run:
    - nodejs >=20.19

tests:
  - script:
      - rollout-viewer --version

about:
  homepage: ${new URL('.', url).href}
  license: ${license}
  license_file: LICENSE
  summary: ${description}
${values.maintainer === undefined ? '' : `\nextra:\n  recipe-maintainers:\n    - ${values.maintainer}\n`}`;

const formula = ({ description, license }, url, sha256) => `class RolloutViewer < Formula
  desc "${description.replace(/^A /, '').replace(/^./, (letter) => letter.toUpperCase())}"
  homepage "${new URL('.', url).href}"
  url "${url}"
  sha256 "${sha256}"
  license "${license}"

  depends_on "node"

  def install
    system "npm", "install", *std_npm_args
    bin.install_symlink libexec.glob("bin/*")
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/rollout-viewer --version")
  end
end
`;

install();
const folder = mkdtempSync(join(tmpdir(), 'rollout-viewer-release-'));
try {
  checkOut(folder);
  const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  if (tag !== undefined && tag.replace(/^v/, '') !== manifest.version)
    throw new Error(`the tag ${tag} is not the version of its package.json, ${manifest.version}`);
  const lock = (place) => readFileSync(join(place, 'package-lock.json'), 'utf8');
  if (lock(folder) === lock(root)) symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  else run('npm', ['ci', '--include=dev', '--no-fund', '--no-audit'], folder);
  run(process.execPath, [join(folder, 'scripts/build.mjs')], folder);
  run(process.execPath, [join(folder, 'scripts/types.mjs')], folder);
  rmSync(out, { recursive: true, force: true });
  mkdirSync(out, { recursive: true });
  run('npm', ['pack', '--silent', '--ignore-scripts', '--pack-destination', out], folder);
  run(process.execPath, [join(folder, 'scripts/wheel.mjs'), out], folder);
  run(process.execPath, [join(folder, 'scripts/executable.mjs'), out], folder);
  const built = readdirSync(out).sort();
  const tarball = built.find((name) => name.endsWith('.tgz'));
  const base = values.url ?? `https://example.org/rollout-viewer/v${manifest.version}`;
  const source = [manifest, `${base.replace(/\/$/, '')}/${tarball}`, sum(join(out, tarball))];
  writeFileSync(join(out, 'recipe.yaml'), recipe(...source));
  writeFileSync(join(out, 'rollout-viewer.rb'), formula(...source));
  const names = readdirSync(out).sort();
  writeFileSync(join(out, 'SHA256SUMS'), names.map((name) => `${sum(join(out, name))}  ${name}\n`).join(''));
  console.log([...names, 'SHA256SUMS'].map((name) => join(out, name)).join('\n'));
} catch (error) {
  console.error(`release: ${error.message}`);
  process.exitCode = 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}
