import { startLive } from './island-live.ts'
import { changed, isShortcut, kept, say } from './island-still.ts'

try {
  startLive({ say, kept, isShortcut, changed })
} catch {
  // An older browser: the page stays as it came, and what else it has of script goes on.
}
