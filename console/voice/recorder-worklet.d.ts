/** The address of the file: it is bundled as it is. */
declare const url: string;
export default url;
