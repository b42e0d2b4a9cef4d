import { finished } from '../../core/async/finished.ts';
import type { RecordedAction } from '../actions/action.ts';
import { EditedFiles } from './edited-files.ts';
import { type FileState, FileStates } from './file-states.ts';
import { certainFile, type KnownFile } from './known-file.ts';
import { PatchedFiles } from './patched-files.ts';
import { ShellFiles } from './shell-files.ts';

/** Tracks the files of a rollout through its recorded calls, without running anything. */
export class FollowedFiles {
  readonly #states: FileStates;
  readonly #edited: EditedFiles;
  readonly #patched: PatchedFiles;
  readonly #shell: ShellFiles;

  private constructor(actions: readonly RecordedAction[], workdir: string | null) {
    this.#states = new FileStates(workdir);
    this.#edited = new EditedFiles(this.#states);
    this.#patched = new PatchedFiles(this.#states);
    this.#shell = new ShellFiles(this.#states, this.#patched, actions);
  }

  /**
   * @param workdir base of relative paths; null = they stay relative
   * @param watch files whose changes from one of the actions on are asked for: `untouched`
   */
  static of(...given: Parameters<typeof FollowedFiles.following>): FollowedFiles {
    return finished(FollowedFiles.following(...given));
  }

  /** The same with a pause after each call. */
  static *following(
    actions: readonly RecordedAction[],
    workdir: string | null,
    watch: { paths: readonly string[]; from: number } | null = null,
  ): Generator<void, FollowedFiles> {
    const files = new FollowedFiles(actions, workdir);
    for (const [i, action] of actions.entries()) {
      if (i === watch?.from) files.#states.watch(watch.paths);
      files.#follow(action);
      yield;
    }
    if (watch !== null && watch.from >= actions.length) files.#states.watch(watch.paths);
    return files;
  }

  /** The calls that may have changed a watched file without a word; null if one changed it, or could have by its text. */
  untouched(path: string): number[] | null {
    return this.#states.untouched(path);
  }

  get states(): readonly FileState[] {
    return this.#states.states;
  }

  /** All paths, with what is known of them at the end. */
  get files(): ReadonlyMap<string, KnownFile> {
    return this.#states.files;
  }

  #follow(recorded: RecordedAction): void {
    this.#states.action = recorded;
    const { action, result } = recorded;
    switch (action.kind) {
      case 'shell':
        if (!action.isInput) this.#shell.run(action.command, action.workdir, result);
        return;
      case 'write': {
        const path = this.#states.path(action.path);
        if (this.#states.happened(path))
          this.#states.set(path, certainFile(action.content, recorded.call, this.#states.at(path)), 'written whole');
        return;
      }
      case 'edit':
        this.#edited.edit(this.#states.path(action.path), action.edits, 'claude');
        return;
      case 'read':
        this.#edited.read(this.#states.path(action.path), action.offset === null && action.limit === null);
        return;
      case 'editor':
        this.#edited.editor(action);
        return;
      case 'window':
        this.#edited.window(action.verb, action.words, action.text);
        return;
      case 'patch':
        this.#patched.codexPatch(action.text, action.workdir ?? this.#states.root);
        return;
      case 'blocks':
        this.#edited.blocks(action.blocks);
        return;
      case 'none':
        if (action.mayChange) this.#shell.ranTool(action.code, recorded.name);
        return;
      default:
        return;
    }
  }
}
