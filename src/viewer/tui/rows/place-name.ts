import type { RolloutPlace } from '../../../analysis/report/report.ts';

/** A rollout within the open dump; not sanitised. */
export const placeName = ({ file, record, turn }: RolloutPlace): string =>
  `${file.folders}${file.stem}:${file.index.line(record)}${turn === null || turn === undefined ? '' : ` t${turn}`}`;
