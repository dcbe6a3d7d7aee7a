//! Portuguese.

use super::Lexicon;

pub(super) const LEXICON: Lexicon = Lexicon {
    code: "pt",
    common: "o a os as um uma uns umas de do da dos das em no na nos nas num numa ao aos à às e ou \
        mas não sim nem que com por para pelo pela sem sobre entre até desde é são era eram foi \
        foram ser está estão estava estar tem têm tinha ter há havia fez faz pode podem quer vai \
        eu tu ele ela eles elas nós você vocês me te se lhe lhes meu minha meus minhas teu tua \
        seu sua seus suas nosso nossa este esta estes estas esse essa isso isto aquele aquela \
        aqui ali lá como mais menos muito muita muitos já também ainda sempre nunca nada algo \
        alguém tudo todo toda todos todas outro outra porque quando onde gosta gostam",
    stop_words: "a ao aos as à às com como da das de dela dele do dos e é ela elas ele eles em \
        entre era eram esse essa está estão este esta eu foi foram há isso isto já lhe mas me meu \
        meus minha minhas na nas no nos nós nossa nosso num numa o onde os ou para pela pelo por \
        porque quais qual quando quanta quantas quanto quantos que quem se sem ser seu seus sua \
        suas são te tem têm tu um uma umas uns você vocês",
    time: "ontem anteontem hoje amanhã semana semanas mês meses ano anos dia dias segunda terça \
        quarta quinta sexta sábado domingo feira manhã tarde noite madrugada hora horas minuto \
        minutos passado passada próximo próxima último última atrás desde recentemente logo \
        antes depois verão inverno primavera outono natal páscoa século década",
    kin: "mãe mamãe pai papai irmã irmãs irmão irmãos filho filha filhos filhas esposa esposo \
        marido mulher amigo amiga amigos amigas família pais criança crianças avó avô avós neto \
        neta tia tio primo prima sobrinho sobrinha namorado namorada noivo noiva companheiro \
        companheira colega colegas chefe mentor mentora equipe equipa vizinho vizinha vizinhos \
        sogra sogro cunhado cunhada professor professora médico médica",
    months: [
        "janeiro #jan",
        "fevereiro #fev",
        "*março #mar",
        "abril #abr",
        "*maio #mai",
        "junho #jun",
        "julho #jul",
        "agosto #ago",
        "setembro #set",
        "outubro #out",
        "novembro #nov",
        "dezembro #dez",
    ],
    in_month: "em de desde até do",
    asks: "por é são era foi está estão tem têm pode há",
    when: "quando",
    place: "onde aonde",
    who: "quem",
    which: "que qual quais",
    how: "como quanto quanta quantos quantas",
    named: "cidade cidades livro livros nome nomes país países lugar canção música músicas filme \
        filmes jogo empresa companhia banda grupo artista escola universidade restaurante hotel \
        rua língua idioma",
    called: "chama chamam chamava",
    times: "tempo data dia dias mês meses semana semanas ano anos hora horas minutos",
    numbers: "dois duas três quatro cinco seis sete oito nove dez onze doze cem mil",
    ..Lexicon::NOTHING
};
