import { isNoRoom } from '../../log/store/disk-probe.ts'

/** Faults of the machine besides a full disk. Other arguments of the command would not fix them. */
const MACHINE_FAULTS: ReadonlySet<unknown> = new Set(['EIO', 'EMFILE', 'ENFILE', 'ENOMEM'])

/** Error that the user can correct. The command ends with 1, and prints only the message. */
export class CommandError extends Error {
  override readonly name = 'CommandError'
  readonly exitCode: 1 | 2 = 1
}

/**
 * Error of a command whose arguments must change, which ends with 2. It ends with 1 when a fault of the machine caused
 * it, such as a failing disk that holds the file of an option.
 */
export class UsageError extends CommandError {
  override readonly exitCode: 1 | 2 = isMachineFault(this.cause) ? 1 : 2
}

function isMachineFault(error: unknown): boolean {
  return isNoRoom(error) || (error instanceof Error && 'code' in error && MACHINE_FAULTS.has(error.code))
}
