/** The parts of hyparquet that read a range of rows by its pages, and the pages themselves. */
export { parquetHeader } from 'hyparquet/src/column.js';
export { decompressPage } from 'hyparquet/src/datapage.js';
export { readRleBitPackedHybrid } from 'hyparquet/src/encoding.js';
export { readOffsetIndex } from 'hyparquet/src/indexes.js';
export { parquetMetadataAsync, parquetSchema } from 'hyparquet/src/metadata.js';
export { parquetPlanGroup } from 'hyparquet/src/plan.js';
export { assembleAsync, readRowGroup } from 'hyparquet/src/rowgroup.js';
export { getMaxRepetitionLevel, getTreePath } from 'hyparquet/src/schema.js';
