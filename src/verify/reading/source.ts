/** Most bytes of a public file. One month's files are in memory as a whole. */
export const FILE_BYTES_MAX: number = 1024 ** 3

/** Source of the public files: a service, or a folder with its paths. */
export type Source = Readonly<{
  /** A service answers every request now. A folder has saved files. */
  is: 'service' | 'folder'
  /**
   * Body at a path with query below `/api/v1/`; undefined when there is none. Rejects with a `WrongError` for an error
   * status, and with another error when the source cannot be read.
   *
   * `covers` is a seq that the log is known to have. A service may have several nodes, and the one that answers may lack
   * it: the service gets a few seconds, and then `read` rejects with `behind`. A folder has one answer only.
   */
  read(path: string, covers?: number): Promise<Uint8Array | undefined>
  /** Months that have a file in a folder, ascending, for a folder without the list of months; empty for a service. */
  months(): Promise<readonly string[]>
  /** Waits before a request is repeated. A folder does not wait. */
  pause(ms: number): Promise<void>
}>
