import { dirname, join, sep } from 'node:path'

/** Parts of the process that tell how it was started. */
type Start = Readonly<{
  /** Path of the entry point. */
  file: string
  cwd: string
  /** `npm_command`, which npm and npx set. */
  npmCommand: string | undefined
}>

/**
 * Words with which the user starts this program: in a clone `npm run -s daybook --`, where it is installed `npx daybook`
 * or `daybook`. Messages print commands with them.
 */
export function programWords({ file, cwd, npmCommand }: Start): string {
  if (file.endsWith('.ts')) {
    const clone = dirname(dirname(file))
    return cwd === clone ? 'npm run -s daybook --' : `node ${file}`
  }
  const [project = ''] = file.split(`${sep}node_modules${sep}`)
  const isOfProject = project !== file && join(cwd, sep).startsWith(join(project, sep))
  return npmCommand === 'exec' || isOfProject ? 'npx daybook' : 'daybook'
}
