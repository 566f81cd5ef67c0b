import { CLUSTER } from './cluster/cluster-plug.ts'
import type { Option } from './command/plug/option.ts'
import { FINALITY } from './finality/finality-plug.ts'
import { MIRROR } from './mirror/command/mirror-plug.ts'
import { OUTBOX } from './outbox/outbox-plug.ts'
import { WITNESS } from './witness/witness-plug.ts'

/** Options that are plugged into the program, each a room of its own. Without its line here, its folder can go. */
export const OPTIONS: readonly Option[] = [MIRROR, WITNESS, CLUSTER, FINALITY, OUTBOX]
