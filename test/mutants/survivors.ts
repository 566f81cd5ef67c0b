/**
 * Generated mutants that no test can kill, by id, with the reason. The id has no line number, so it stays when other code
 * moves. Each reason says why the behaviour is the same, or why the difference is not promised.
 */
export const KNOWN_SURVIVORS: Readonly<Record<string, string>> = {}
