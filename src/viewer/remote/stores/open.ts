import type { Address } from '../address.ts';
import { GsStore } from './gs.ts';
import { HfStore } from './hf.ts';
import { ObjectSource } from './object-source.ts';
import { S3Store } from './s3.ts';

const STORES = { s3: S3Store, gs: GsStore, hf: HfStore };

export const storeSource = ({ scheme, bucket }: Extract<Address, { kind: 'store' }>): ObjectSource =>
  new ObjectSource(new STORES[scheme](bucket));
