import type { StopCause } from './replica-stop.ts'

/** Notice of a replica, for the log lines of the program. */
export type ReplicaNotice =
  | Readonly<{ is: 'stopped'; cause: StopCause }>
  /** Both branches of a fork are kept: so many messages. */
  | Readonly<{ is: 'evidence'; messages: number }>
  /** The engine had lost so many messages, and got them again. */
  | Readonly<{ is: 'offered-again'; messages: number }>
  /** The other writers were heard, except for the silent ones. */
  | Readonly<{ is: 'heard'; silent: readonly string[] }>
  | Readonly<{ is: 'changed'; what: string }>
  | Readonly<{ is: 'local-failure'; error: unknown }>
