import { CLUSTER } from './cluster/option.ts'
import type { ProgramOption } from './command/plug/program-option.ts'

/** Options that are plugged into the program, each a room of its own. Without its line here, its folder can go. */
export const OPTIONS: readonly ProgramOption[] = [CLUSTER]
