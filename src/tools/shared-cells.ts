import type { Isolation } from '../engines/engine.ts';
import type { PublishedGeneration } from './tool-types.ts';

/** The cell of a call, and the cell of an older generation whose state it takes over. */
export interface SharedCell {
  readonly cellKey: string;
  readonly previousCellKey?: string;
}

/** Names shared cells. A `call` cell is shared with nobody and has no name. */
export interface SharedCells {
  cellOf(published: PublishedGeneration, callerId: string, session: string): SharedCell;
}

const ownCell: SharedCell = { cellKey: '' };
const maxRemembered = 10_000;

/**
 * Creates the names: `session` cells belong to a caller, a session and a plugin, `plugin` cells to a generation. Keys are
 * JSON, so no choice of session name can collide with somebody else's.
 */
export function createSharedCells(): SharedCells {
  /** The newest plugin cell and the one before it, by plugin path. */
  const cellsByPlugin = new Map<string, SharedCell>();
  return {
    cellOf(published, callerId, session) {
      const { generation, manifest } = published;
      const isolation: Isolation = manifest.isolation;
      if (isolation === 'call') return ownCell;
      if (isolation === 'session') return { cellKey: JSON.stringify([callerId, session, generation.pluginPath]) };
      const cellKey = JSON.stringify([generation.pluginPath, generation.id]);
      const newest = cellsByPlugin.get(generation.pluginPath);
      if (newest?.cellKey === cellKey) return newest;
      if (newest?.previousCellKey === cellKey) return { cellKey };
      const cell = newest === undefined ? { cellKey } : { cellKey, previousCellKey: newest.cellKey };
      if (cellsByPlugin.size >= maxRemembered) cellsByPlugin.clear();
      cellsByPlugin.set(generation.pluginPath, cell);
      return cell;
    },
  };
}
