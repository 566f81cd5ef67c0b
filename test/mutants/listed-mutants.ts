import { ALLOWANCE_MUTANTS } from './listed/allowance-mutants.ts'
import { CLUSTER_MUTANTS } from './listed/cluster-mutants.ts'
import { FIGURE_MUTANTS } from './listed/figure-mutants.ts'
import { LOG_MUTANTS } from './listed/log-mutants.ts'
import { PROOF_MUTANTS } from './listed/proof-mutants.ts'
import { PUBLISH_MUTANTS } from './listed/publish-mutants.ts'
import { REQUEST_MUTANTS } from './listed/request-mutants.ts'
import { STREAM_MUTANTS } from './listed/stream-mutants.ts'
import type { ListedMutant } from './listed/listed-mutant.ts'

/** Plausible bugs, each of which breaks a promise and is found by a named test. */
export const LISTED_MUTANTS: readonly ListedMutant[] = [
  ...STREAM_MUTANTS,
  ...ALLOWANCE_MUTANTS,
  ...LOG_MUTANTS,
  ...PUBLISH_MUTANTS,
  ...FIGURE_MUTANTS,
  ...PROOF_MUTANTS,
  ...REQUEST_MUTANTS,
  ...CLUSTER_MUTANTS,
]
