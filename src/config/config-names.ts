/** Names of a config file that is found without being named. */
export const searchedNames: readonly string[] = ['hotcell.config.yaml', 'hotcell.config.yml', 'hotcell.config.json'];
