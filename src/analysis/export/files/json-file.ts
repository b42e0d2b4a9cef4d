import { printJson } from '../../../core/json/print.ts';
import type { ExportRow } from '../format.ts';
import { packOf } from './pack.ts';
import type { RowFile } from './row-file.ts';
import { WholeFile } from './whole-file.ts';

/** JSON lines, or one JSON array. */
export class JsonFile implements RowFile {
  readonly #file: WholeFile;
  readonly #isArray: boolean;
  #rows = 0;

  constructor(path: string, isArray: boolean) {
    this.#file = new WholeFile(path, packOf(path));
    this.#isArray = isArray;
  }

  add(row: ExportRow): void {
    const before = this.#isArray ? (this.#rows === 0 ? '[\n' : ',\n') : '';
    this.#rows++;
    this.#file.write(before + printJson(row) + (this.#isArray ? '' : '\n'));
  }

  async finish(): Promise<void> {
    if (this.#isArray) this.#file.write(this.#rows === 0 ? '[]\n' : '\n]\n');
    this.#file.finish();
  }

  publish(): void {
    this.#file.publish();
  }

  discard(): void {
    this.#file.discard();
  }
}
