import type { ExportFormat } from '../format.ts';
import type { RowFile } from './row-file.ts';

/** Opens the file of a format. @throws the system's error */
export async function openRowFile(format: ExportFormat, path: string): Promise<RowFile> {
  switch (format.file) {
    case 'jsonl':
    case 'json':
      return new (await import('./json-file.ts')).JsonFile(path, format.file === 'json');
    case 'parquet':
      return new (await import('./parquet-file.ts')).ParquetFile(path, format.columns ?? []);
    case 'bin':
      return new (await import('./message-pack-file.ts')).MessagePackFile(path);
    case 'pt':
      return new (await import('./torch-file.ts')).TorchFile(path);
  }
}
