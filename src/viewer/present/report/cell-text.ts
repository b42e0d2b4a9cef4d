import { type CellValue, type ColumnType, isPlace, isTally, locatorText } from '../../../analysis/report/report.ts';
import { formatCount, formatPercent, sparkline } from '../../../core/text/numbers.ts';
import { meanText, scoreText, secondsText } from '../../../core/text/quantities.ts';
import { formatAdvantage } from '../numbers.ts';

const CURVE = 16;
const BAR = 24;
const EIGHTHS = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉'];

/** A bar of at most `room` cells. A nonzero share is always visible. */
export function barText(share: number, room: number): string {
  const eighths = Math.min(room * 8, share > 0 ? Math.max(1, Math.round(share * room * 8)) : 0);
  return '█'.repeat(eighths >> 3) + (EIGHTHS[eighths & 7] ?? '');
}

/** A cell for people; '' if the value is unknown. Data in it is not sanitised yet. */
export function cellText(value: CellValue, type: ColumnType): string {
  if (value === null) return '';
  if (typeof value === 'string') return value;
  if (typeof value === 'boolean') return value ? 'yes' : '';
  if (isPlace(value)) return locatorText(value);
  if (isTally(value)) return value.of === 0 ? '' : `${value.count}/${value.of}`;
  if (typeof value === 'object') return value.length < 2 ? '' : sparkline(merged(value, CURVE), CURVE);
  return Number.isNaN(value) ? '' : typedNumber(value, type);
}

function typedNumber(value: number, type: ColumnType): string {
  switch (type) {
    case 'share':
      return formatPercent(value);
    case 'score':
      return scoreText(value);
    case 'mean':
      return meanText(value);
    case 'change':
      return `${value > 0 ? '+' : ''}${meanText(value)}`;
    case 'chance':
      return value < 1e-12 ? '<1e-12' : value < 0.001 ? value.toExponential(0) : value.toFixed(3);
    case 'advantage':
      return formatAdvantage(value);
    case 'step':
      return String(value);
    case 'turn':
      return `t${value}`;
    case 'seconds':
      return secondsText(value);
    case 'bar':
      return barText(value, BAR);
    default:
      return Number.isInteger(value) ? formatCount(value) : meanText(value);
  }
}

/** If there are more than `most` values, neighbours are merged into their mean. */
function merged(values: readonly number[], most: number): number[] {
  if (values.length <= most) return [...values];
  return Array.from({ length: most }, (_, i) => {
    const part = values.slice(Math.floor((i * values.length) / most), Math.floor(((i + 1) * values.length) / most));
    return part.reduce((sum, value) => sum + value, 0) / part.length;
  });
}
