/**
 * The folders that distinguish each file from others of its name: `train/` beside `val/3.jsonl`, '' if no other file has
 * its name.
 */
export function distinctFolders(paths: readonly string[]): Map<string, string> {
  const folders = new Map<string, string>();
  let alike = paths.map((path) => path.split('/'));
  for (let depth = 1; alike.length > 0; depth++) {
    const endOf = (parts: readonly string[]): string => parts.slice(-depth).join('/');
    const counts = new Map<string, number>();
    for (const parts of alike) counts.set(endOf(parts), (counts.get(endOf(parts)) ?? 0) + 1);
    for (const parts of alike) folders.set(parts.join('/'), endOf(parts).slice(0, -(parts.at(-1) ?? '').length));
    alike = alike.filter((parts) => parts.length > depth && counts.get(endOf(parts)) !== 1);
  }
  return folders;
}
