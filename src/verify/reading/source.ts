/** Bytes of the largest public file that is read: each is held whole, one month at a time. */
export const FILE_BYTES_MAX: number = 1024 ** 3

/** Where the public files come from: a service, or a folder that mirrors its paths. */
export type Source = Readonly<{
  /** A service answers any question as of now; a folder has what was put there. */
  is: 'service' | 'folder'
  /**
   * The body at a path below `/api/v1/`, its query included; undefined where there is nothing. Rejects with a
   * `WrongError` when there is another answer than a body, and with another error when the source cannot be read.
   */
  read(path: string): Promise<Uint8Array | undefined>
  /** The months of which a folder has a file, ascending, should it lack the list of them; none of a service. */
  months(): Promise<readonly string[]>
  /** Waits before something is asked once more; a folder has nothing to wait for. */
  pause(ms: number): Promise<void>
}>
