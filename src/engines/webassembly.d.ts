/**
 * The part of the WebAssembly JavaScript API that the engines use. TypeScript declares it only in its "dom" library,
 * which would also let browser globals pass the type check of server code.
 */
declare namespace WebAssembly {
  type ImportExportKind = 'function' | 'global' | 'memory' | 'table' | 'tag';
  type ExportValue = ((...args: never[]) => unknown) | Memory | object;
  type Imports = Record<string, Record<string, unknown>>;

  interface ModuleExportDescriptor {
    readonly name: string;
    readonly kind: ImportExportKind;
  }

  interface ModuleImportDescriptor {
    readonly module: string;
    readonly name: string;
    readonly kind: ImportExportKind;
  }

  interface Module {
    readonly [Symbol.toStringTag]: string;
  }

  interface Instance {
    readonly exports: Readonly<Record<string, ExportValue>>;
  }

  interface Memory {
    readonly buffer: ArrayBuffer;
    grow(deltaPages: number): number;
  }

  interface Table {
    readonly length: number;
    set(index: number, value: ExportValue | undefined): void;
  }

  interface MemoryDescriptor {
    readonly initial: number;
    readonly maximum?: number;
  }

  const Module: {
    new (bytes: Uint8Array | ArrayBuffer): Module;
    exports(module: Module): ModuleExportDescriptor[];
    imports(module: Module): ModuleImportDescriptor[];
  };
  const Instance: { new (module: Module, imports?: Imports): Instance };
  const Table: { new (descriptor: { readonly element: 'anyfunc'; readonly initial: number }): Table };
  const Memory: { new (descriptor: MemoryDescriptor): Memory };
  const CompileError: ErrorConstructor;
  const LinkError: ErrorConstructor;
  const RuntimeError: ErrorConstructor;

  function compile(bytes: Uint8Array | ArrayBuffer): Promise<Module>;
}
